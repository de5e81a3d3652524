//! What `enroot import` adds to an image, as one more layer.
//!
//! `enroot start` runs `/etc/rc` with the environment of `/etc/environment`, and mounts what
//! `/etc/fstab` lists (enroot 4, `src/docker.sh`).

use std::fmt::Write as _;

use coldpress_writer::Layer;

use crate::added::AddedLayer;
use crate::image::ContainerImage;

impl ContainerImage {
    /// The layer that `enroot import` would put on top: `/etc/rc`, `/etc/rc.local`,
    /// `/etc/environment` and `/etc/fstab`, and no devices.
    ///
    /// * `uri`: where the image comes from, for a comment; without credentials.
    /// * `time_s`: the time of what is added, seconds since 1970.
    pub fn enroot_layer(&self, uri: &str, time_s: u32) -> Layer {
        let run = &self.config.config;
        let mut environment = String::new();
        for variable in &run.env {
            // A line break would begin another variable.
            let _ = writeln!(environment, "{}", variable.replace('\n', " "));
        }
        let mut fstab = String::new();
        for volume in run
            .volumes
            .keys()
            .filter(|volume| !volume.contains(['\n', ' ', '\t']))
        {
            let _ = writeln!(
                fstab,
                "${{ENROOT_ROOTFS}}{volume} {volume} none x-create=dir,bind,rw,nosuid,nodev"
            );
        }
        let mut added = AddedLayer::new(time_s);
        // What lower layers have there is hidden: nobody may make devices of an image.
        added.file("dev/.wh..wh..opq", 0o644, b"");
        added.file("etc/environment", 0o644, environment.as_bytes());
        added.file("etc/fstab", 0o644, fstab.as_bytes());
        added.file("etc/rc", 0o755, self.enroot_rc(uri).as_bytes());
        added.file("etc/rc.local", 0o755, b"");
        added.layer(format!("{}, what enroot adds", self.name))
    }

    /// The program that runs in the image.
    fn enroot_rc(&self, uri: &str) -> String {
        let run = &self.config.config;
        let mut rc = format!("# enroot-provenance: {}\n", one_line(uri));
        for (name, value) in &run.labels {
            let _ = writeln!(rc, "# {} {}", one_line(name), one_line(value));
        }
        let directory = match run.working_dir.as_str() {
            "" => "/",
            directory => directory,
        };
        let (directory, entrypoint) = (quoted(directory), words(&run.entrypoint));
        let _ = write!(
            rc,
            "\nmkdir -p {directory} 2>/dev/null\ncd {directory} && unset OLDPWD || exit 1\n\n\
             if [ -s /etc/rc.local ]; then\n    . /etc/rc.local\nfi\n\n\
             if [ $# -gt 0 ]; then\n    exec {entrypoint}\"$@\"\nelse\n    exec {}\nfi\n",
            words(&self.enroot_command())
        );
        rc
    }

    /// The entrypoint with its arguments, or a shell.
    fn enroot_command(&self) -> Vec<String> {
        let command = self.config.config.command();
        if command.is_empty() {
            vec!["/bin/sh".to_owned()]
        } else {
            command
        }
    }
}

fn one_line(text: &str) -> String {
    text.chars()
        .map(|it| if it.is_control() { ' ' } else { it })
        .collect()
}

/// A word that the shell takes as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn words(words: &[String]) -> String {
    words
        .iter()
        .fold(String::new(), |text, word| text + &quoted(word) + " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(config: &str) -> ContainerImage {
        ContainerImage {
            name: "image".to_owned(),
            manifest: None,
            platforms: Vec::new(),
            config: serde_json::from_str(config).unwrap(),
            config_json: Vec::new(),
            layers: Vec::new(),
        }
    }

    #[test]
    fn the_script_runs_what_the_image_says() {
        let rc = image(
            r#"{"config":{"Entrypoint":["/it's","-x"],"Cmd":["$A"],"WorkingDir":"/w d",
                "Labels":{"a":"b\nexec evil"}}}"#,
        )
        .enroot_rc("docker://q.io/a:1");
        let expected = "# enroot-provenance: docker://q.io/a:1\n# a b exec evil\n\n\
            mkdir -p '/w d' 2>/dev/null\ncd '/w d' && unset OLDPWD || exit 1\n\n\
            if [ -s /etc/rc.local ]; then\n    . /etc/rc.local\nfi\n\n\
            if [ $# -gt 0 ]; then\n    exec '/it'\\''s' '-x' \"$@\"\nelse\n    \
            exec '/it'\\''s' '-x' '$A' \nfi\n";
        assert_eq!(rc, expected);
        let rc = image("{}").enroot_rc("x");
        assert!(
            rc.contains("cd '/' ")
                && rc.contains("exec \"$@\"")
                && rc.contains("exec '/bin/sh' \n")
        );
    }

    #[test]
    fn the_layer_is_an_archive_that_is_read() {
        let image = image(r#"{"config":{"Env":["A=1","B=2 3"],"Volumes":{"/data":{}}}}"#);
        let layer = image.enroot_layer("x", 7);
        let input = coldpress_writer::LayersInput {
            layers: vec![layer],
            spool_directory: std::env::temp_dir(),
            defaults: coldpress_writer::TarDefaults::default(),
            follows_symlinks: false,
        };
        let inputs = [coldpress_writer::Input::Layers(input)];
        let options = coldpress_writer::SourceOptions::default();
        let go_on = &mut |_| std::ops::ControlFlow::Continue(());
        let source = coldpress_writer::gather(&inputs, &options, go_on).unwrap();
        let text = |path: &[u8]| {
            let node = source.tree.find(path).unwrap();
            String::from_utf8(source.beginning(node, 1000).unwrap()).unwrap()
        };
        assert_eq!(text(b"/etc/environment"), "A=1\nB=2 3\n");
        let fstab = "${ENROOT_ROOTFS}/data /data none x-create=dir,bind,rw,nosuid,nodev\n";
        assert_eq!(text(b"/etc/fstab"), fstab);
        assert_eq!(
            source.tree[source.tree.find(b"/etc/rc").unwrap()].mode,
            0o755
        );
        assert!(source.warnings.is_empty());
    }
}
