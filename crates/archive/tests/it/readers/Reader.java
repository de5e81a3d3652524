import java.io.File;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** For each archive of a directory: the SHA-256 of its names and contents, or that it is refused. */
class Reader {
    static String digest(File file) throws Exception {
        MessageDigest whole = MessageDigest.getInstance("SHA-256");
        try (ZipFile archive = new ZipFile(file)) {
            List<ZipEntry> entries = new ArrayList<>();
            archive.stream().filter(entry -> !entry.isDirectory()).forEach(entries::add);
            entries.sort(Comparator.comparing(ZipEntry::getName));
            for (ZipEntry entry : entries) {
                byte[] content = archive.getInputStream(entry).readAllBytes();
                whole.update(entry.getName().getBytes("UTF-8"));
                whole.update((byte) 0);
                whole.update(MessageDigest.getInstance("SHA-256").digest(content));
            }
        }
        return HexFormat.of().formatHex(whole.digest());
    }

    public static void main(String[] directories) {
        File[] files = new File(directories[0]).listFiles();
        Arrays.sort(files);
        for (File file : files) {
            try {
                System.out.println(file.getName() + " " + digest(file));
            } catch (Exception error) {
                System.out.println(file.getName() + " refused: " + error);
            }
        }
    }
}
