//! A page under construction. Whatever comes from outside passes [`escape`].

use crate::text::printable;

/// An HTML page in memory.
pub(super) struct Page {
    html: String,
    in_section: bool,
}

impl Page {
    pub(super) fn new(title: &str) -> Page {
        let title = escape(title);
        let style = include_str!("report.css");
        let html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n\
             <h1>{title}</h1>\n"
        );
        Page {
            html,
            in_section: false,
        }
    }

    /// Appends trusted HTML.
    pub(super) fn push(&mut self, html: &str) {
        self.html.push_str(html);
    }

    /// Appends text from outside.
    pub(super) fn text(&mut self, text: &str) {
        self.push(&escape(text));
    }

    /// Appends an element that holds text from outside; `class` may be empty.
    pub(super) fn element(&mut self, tag: &str, class: &str, text: &str) {
        let class = if class.is_empty() {
            String::new()
        } else {
            format!(" class=\"{class}\"")
        };
        let text = escape(text);
        self.push(&format!("<{tag}{class}>{text}</{tag}>\n"));
    }

    /// Ends the section and begins the next one.
    pub(super) fn section(&mut self, title: &str) {
        self.end_section();
        self.push("<section>\n");
        self.in_section = true;
        self.element("h2", "", title);
    }

    /// Appends a table; the first column names its row.
    pub(super) fn table(&mut self, columns: &[&str], rows: &[Vec<String>]) {
        self.push("<div class=\"wide\"><table>");
        if !columns.is_empty() {
            self.push("<thead><tr>");
            for column in columns {
                self.element("th", "", column);
            }
            self.push("</tr></thead>");
        }
        self.push("<tbody>\n");
        for row in rows {
            self.push("<tr>");
            for (index, cell) in row.iter().enumerate() {
                self.element(if index == 0 { "th" } else { "td" }, "", cell);
            }
            self.push("</tr>\n");
        }
        self.push("</tbody></table></div>\n");
    }

    pub(super) fn finish(mut self) -> String {
        self.end_section();
        self.push("</main>\n</body>\n</html>\n");
        self.html
    }

    fn end_section(&mut self) {
        if self.in_section {
            self.push("</section>\n");
        }
        self.in_section = false;
    }
}

/// Text as HTML, for elements and for quoted attributes. Control characters, which HTML does not
/// allow, become `\xNN`.
pub(super) fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in printable(text.as_bytes()).chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_from_outside_is_escaped() {
        let cases = [
            ("plain", "plain"),
            (
                "<script>alert('x')</script>",
                "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;",
            ),
            ("\" onload=\"x & y", "&quot; onload=&quot;x &amp; y"),
            ("nul\0esc\x1b", r"nul\x00esc\x1b"),
        ];
        for (text, expected) in cases {
            assert_eq!(escape(text), expected);
        }
    }
}
