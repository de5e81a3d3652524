//! A browser, spoken to by the `DevTools` protocol over a pair of pipes.
//!
//! Chromium reads commands from its descriptor 3 and writes answers and events to descriptor 4,
//! each a JSON object that ends with a zero byte. So a test needs no port, no web socket, and no
//! crate for them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A page needs milliseconds; a machine that does much else at once needs more.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) struct Browser {
    child: Child,
    commands: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// All that was told and not asked for.
    events: Vec<Value>,
    session: Option<String>,
    last_id: u64,
    downloads: TempDir,
    _profile: TempDir,
}

impl Browser {
    /// Starts the browser with one empty page.
    pub(crate) fn start() -> Browser {
        let profile = tempfile::tempdir().expect("a temporary directory");
        let mut child = Command::new("/bin/sh")
            .args([
                "-c",
                "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null",
                "sh",
            ])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args([
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
                "about:blank",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let commands = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        thread::spawn(move || {
            for message in answers.split(0) {
                let Ok(message) = message else { return };
                let message = serde_json::from_slice(&message).expect("JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Browser {
            child,
            commands,
            messages,
            events: Vec::new(),
            session: None,
            last_id: 0,
            downloads: tempfile::tempdir().expect("a temporary directory"),
            _profile: profile,
        };
        browser.prepare();
        browser
    }

    fn prepare(&mut self) {
        let page = self.ask("Target.createTarget", &json!({ "url": "about:blank" }));
        let target = json!({ "targetId": page["targetId"], "flatten": true });
        let session = self.ask("Target.attachToTarget", &target);
        self.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            self.ask(&format!("{domain}.enable"), &json!({}));
        }
        let downloads = self.downloads.path().display().to_string();
        let behavior =
            json!({ "behavior": "allow", "downloadPath": downloads, "eventsEnabled": true });
        self.ask("Browser.setDownloadBehavior", &behavior);
    }

    /// Opens a file and waits until it is loaded.
    pub(crate) fn open(&mut self, page: &Path) {
        self.events.clear();
        let url = format!("file://{}", page.display());
        self.ask("Page.navigate", &json!({ "url": url }));
        self.wait(|event| event["method"] == "Page.loadEventFired");
    }

    /// The value of an expression in the page; promises are waited for.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", &asked);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Moves the mouse onto the middle of the element that a selector finds first.
    pub(crate) fn hover(&mut self, selector: &str) -> (f64, f64) {
        let place = self.value(&format!(
            "(() => {{ const element = document.querySelector({selector:?}); \
             element.scrollIntoView({{ block: 'center', inline: 'center' }}); const box = element.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        let at = (
            place[0].as_f64().expect("a number"),
            place[1].as_f64().expect("a number"),
        );
        self.mouse("mouseMoved", at, 0);
        at
    }

    /// Presses and releases the left mouse button there.
    pub(crate) fn click(&mut self, selector: &str) {
        let at = self.hover(selector);
        self.mouse("mousePressed", at, 1);
        self.mouse("mouseReleased", at, 1);
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), clicks: u32) {
        let button = if clicks > 0 { "left" } else { "none" };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": clicks });
        self.ask("Input.dispatchMouseEvent", &event);
    }

    pub(crate) fn press_key(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.ask(
                "Input.dispatchKeyEvent",
                &json!({ "type": kind, "key": key, "code": key }),
            );
        }
    }

    /// Clicks, and returns name and bytes of the file that is saved.
    pub(crate) fn download(&mut self, selector: &str) -> (String, Vec<u8>) {
        self.click(selector);
        let begun = self.wait(|event| event["method"] == "Browser.downloadWillBegin");
        let name = begun["params"]["suggestedFilename"]
            .as_str()
            .expect("a name")
            .to_owned();
        self.wait(|event| {
            event["method"] == "Browser.downloadProgress" && event["params"]["state"] == "completed"
        });
        let path = self.downloads.path().join(&name);
        (name, std::fs::read(path).expect("a file that was saved"))
    }

    /// What a command answers.
    pub(crate) fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut command = json!({ "id": id, "method": method, "params": parameters });
        // Downloads are those of the browser, not of a page.
        if let Some(session) = self
            .session
            .as_ref()
            .filter(|_| !method.starts_with("Browser."))
        {
            command["sessionId"] = json!(session);
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        let pipe = self.commands.as_mut().expect("the browser runs");
        pipe.write_all(&bytes).expect("the browser reads");
        loop {
            let message = self.next();
            if message["id"] == json!(id) {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// The first event of a kind since the page was opened; it is taken out.
    fn wait(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(index) = self.events.iter().position(&is_wanted) {
                return self.events.remove(index);
            }
            let message = self.next();
            self.events.push(message);
        }
    }

    fn next(&mut self) -> Value {
        self.messages
            .recv_timeout(PATIENCE)
            .expect("an answer of the browser")
    }

    /// The addresses that the page asked for since it was opened.
    pub(crate) fn requests(&self) -> Vec<&str> {
        let asked = self
            .events
            .iter()
            .filter(|event| event["method"] == "Network.requestWillBeSent");
        asked
            .filter_map(|event| event["params"]["request"]["url"].as_str())
            .collect()
    }

    /// What the page wrote to the console, by itself or through an error.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        let methods = [
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
            "Log.entryAdded",
        ];
        let is_complaint = |event: &&Value| methods.iter().any(|method| event["method"] == *method);
        self.events.iter().filter(is_complaint).collect()
    }
}

impl Drop for Browser {
    /// It ends when its commands do.
    fn drop(&mut self) {
        self.commands = None;
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
