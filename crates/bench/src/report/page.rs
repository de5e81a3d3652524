//! A page under construction. Whatever comes from outside passes [`escape`].

use std::borrow::Cow;

use coldpress_report::text::printable;

/// The page asks nobody for anything, whatever stands in it. `blob:` and `data:` are its own bytes.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
img-src blob: data:";

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
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
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
    ///
    /// * `id`: what links to it name; trusted.
    pub(super) fn section(&mut self, id: &str, title: &str) {
        self.end_section();
        self.push(&format!("<section id=\"{id}\">\n"));
        self.in_section = true;
        self.element("h2", "", title);
    }

    /// Appends a chart with the buttons that save it, which the script shows.
    pub(super) fn chart(&mut self, title: &str, svg: &str) {
        self.push("<figure>");
        self.element("figcaption", "", title);
        self.push(&format!(
            "<div class=\"wide\">{svg}</div>\n\
             <p class=\"tools\" hidden>\
             <button type=\"button\" data-save=\"svg\">SVG</button> \
             <button type=\"button\" data-save=\"png\">PNG</button></p></figure>\n"
        ));
    }

    /// Appends a table; the first column names its row.
    pub(super) fn table<'t>(
        &mut self,
        columns: &[String],
        rows: impl IntoIterator<Item = Vec<Cow<'t, str>>>,
    ) {
        self.push("<div class=\"wide\"><table>");
        if !columns.is_empty() {
            self.push("<thead><tr>");
            for column in columns {
                self.push("<th scope=\"col\">");
                self.text(column);
                self.push("</th>");
            }
            self.push("</tr></thead>");
        }
        self.push("<tbody>\n");
        for row in rows {
            self.push("<tr>");
            for (index, cell) in row.iter().enumerate() {
                let tag = if index == 0 { "th" } else { "td" };
                self.push(&format!("<{tag}>"));
                self.text(cell);
                self.push(&format!("</{tag}>"));
            }
            self.push("</tr>\n");
        }
        self.push("</tbody></table></div>\n");
    }

    /// Ends the page.
    ///
    /// * `samples`: what the script reads, as JSON.
    pub(super) fn finish(mut self, samples: &str) -> String {
        self.end_section();
        // Inside of a script only `<` can end it or begin a comment.
        let samples = samples.replace('<', "\\u003c");
        let script = include_str!("report.js");
        self.push(&format!(
            "</main>\n<p id=\"tip\" role=\"status\" hidden></p>\n\
             <script type=\"application/json\" id=\"samples\">{samples}</script>\n\
             <script>\n{script}</script>\n</body>\n</html>\n"
        ));
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
