/// The most characters that are shown of a text from a file.
const MAX_SHOWN_CHARS: usize = 300;

/// A text from a file in a form that is safe to print: control characters and other characters that are not
/// printable are escaped, and a long text is cut.
pub(crate) fn escape(text: &str) -> String {
    let mut shown = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == MAX_SHOWN_CHARS {
            shown.push('…');
            break;
        }
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}
