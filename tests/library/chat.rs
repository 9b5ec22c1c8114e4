//! Chat templates: the texts of `apply_chat_template` of HuggingFace's `transformers`, and hostile templates.

use crate::support::temp_dir;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;
use typed_transformer::prelude::*;
use typed_transformer::tokens::{ChatMessage, ChatTemplate, ChatTemplateError, Tokenizer};

/// A folder with these settings of a tokenizer.
fn folder(settings: &Value) -> TempDir {
    let folder = temp_dir();
    fs::write(folder.path().join("tokenizer_config.json"), settings.to_string()).unwrap();
    folder
}

fn template(source: &str) -> Result<ChatTemplate, ChatTemplateError> {
    ChatTemplate::from_folder(
        folder(&json!({"bos_token": "<s>", "eos_token": {"content": "</s>"}, "chat_template": source})).path(),
    )
}

fn render(source: &str) -> Result<String, ChatTemplateError> {
    template(source)?.render(&[ChatMessage::new("user", "Hi")], true)
}

#[test]
fn texts_are_those_of_transformers() {
    let reference: Value = serde_json::from_str(include_str!("../fixtures/chat/chats.json")).unwrap();
    let cases = reference["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 50);
    for case in cases {
        let source = reference["templates"][case["template"].as_str().unwrap()].as_str().unwrap();
        let chat: Vec<(String, String)> = serde_json::from_value(case["chat"].clone()).unwrap();
        let chat: Vec<_> = chat.into_iter().map(|(role, content)| ChatMessage::new(role, content)).collect();
        let found = template(source).unwrap().render(&chat, case["add_generation_prompt"].as_bool().unwrap());
        match (found, case["text"].as_str()) {
            (Ok(found), Some(expected)) => assert_eq!(found, expected, "{case}"),
            (Err(ChatTemplateError::Refused { message }), None) => assert_eq!(case["error"], message),
            (found, _) => panic!("{found:?} for {case}"),
        }
    }
}

#[test]
fn a_template_stands_in_settings_in_a_list_or_in_a_file() {
    let of = |settings: &Value| {
        let folder = folder(settings);
        ChatTemplate::from_folder(folder.path()).map(|template| template.render(&[], false).unwrap())
    };
    let list = json!([{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "{{ bos_token }}"}]);
    assert_eq!(of(&json!({"bos_token": {"content": "<b>"}, "chat_template": list})).unwrap(), "<b>");
    // The one for tools is that of a chat with tools, also with none of them.
    let with_tools = |folder: &TempDir, tools: &Value| {
        ChatTemplate::from_folder(folder.path())?.with_value("tools", tools).render(&[], false)
    };
    let with_list = folder(&json!({"bos_token": "<b>", "chat_template": list}));
    let [none, empty] = [Value::Null, json!([])].map(|tools| with_tools(&with_list, &tools).unwrap());
    assert_eq!((&*none, &*empty), ("<b>", "tools"));
    let missing = "tokenizer_config.json has no `chat_template`, alone or named `default`";
    let rag = json!([{"name": "rag", "template": "documents"}]);
    for none in [
        json!({}),
        json!({"chat_template": null}),
        json!({"chat_template": []}),
        json!({"chat_template": rag}),
        json!([1]),
    ] {
        let error = of(&none).unwrap_err();
        assert!(matches!(&error, ChatTemplateError::Missing { .. }), "{error}");
        assert!(error.to_string().ends_with(missing));
    }
    let for_tools = folder(&json!({}));
    fs::create_dir(for_tools.path().join("additional_chat_templates")).unwrap();
    fs::write(for_tools.path().join("additional_chat_templates/tool_use.jinja"), "tools").unwrap();
    assert!(ChatTemplate::from_folder(for_tools.path()).unwrap_err().to_string().ends_with(missing));
    let folder = folder(&json!({"eos_token": "<e>", "chat_template": "older"}));
    fs::write(folder.path().join("chat_template.jinja"), "file {{ eos_token }}\n").unwrap();
    assert_eq!(ChatTemplate::from_folder(folder.path()).unwrap().render(&[], false).unwrap(), "file <e>");
    // Such a folder may have no settings.
    let alone = temp_dir();
    let of_alone = || ChatTemplate::from_folder(alone.path()).map(|template| template.render(&[], false).unwrap());
    assert!(matches!(of_alone(), Err(ChatTemplateError::Read { .. })));
    fs::write(alone.path().join("chat_template.jinja"), "file {{ eos_token }}").unwrap();
    assert_eq!(of_alone().unwrap(), "file ");
    fs::write(alone.path().join("special_tokens_map.json"), r#"{"eos_token": "<e>"}"#).unwrap();
    assert_eq!(of_alone().unwrap(), "file <e>");
    // A file counts in place of the list.
    fs::write(with_list.path().join("chat_template.jinja"), "file").unwrap();
    assert_eq!(with_tools(&with_list, &json!([])).unwrap(), "file");
    let tool_use = with_list.path().join("additional_chat_templates/tool_use.jinja");
    fs::create_dir(tool_use.parent().unwrap()).unwrap();
    fs::write(tool_use, "{{ tools | length }} tools").unwrap();
    let [none, some] = [Value::Null, json!([{"name": "sum"}])].map(|tools| with_tools(&with_list, &tools).unwrap());
    assert_eq!((&*none, &*some), ("file", "1 tools"));
    fs::remove_file(with_list.path().join("chat_template.jinja")).unwrap();
    assert_eq!(with_tools(&with_list, &json!([])).unwrap(), "0 tools");
    // Only a chat with tools needs the template for tools.
    fs::write(with_list.path().join("additional_chat_templates/tool_use.jinja"), "{% for %}").unwrap();
    assert_eq!(with_tools(&with_list, &Value::Null).unwrap(), "<b>");
    assert!(matches!(with_tools(&with_list, &json!([])), Err(ChatTemplateError::Failed { .. })));
    fs::write(folder.path().join("chat_template.jinja"), [0xff]).unwrap();
    assert!(matches!(ChatTemplate::from_folder(folder.path()), Err(ChatTemplateError::Format { .. })));
    fs::write(folder.path().join("tokenizer_config.json"), "{").unwrap();
    assert!(matches!(ChatTemplate::from_folder(folder.path()), Err(ChatTemplateError::Format { .. })));
}

#[test]
#[cfg(unix)]
fn a_link_to_nothing_is_not_passed_over() {
    let folder = folder(&json!({"chat_template": "older"}));
    std::os::unix::fs::symlink("gone", folder.path().join("chat_template.jinja")).unwrap();
    assert!(matches!(ChatTemplate::from_folder(folder.path()), Err(ChatTemplateError::Read { .. })));
}

#[test]
fn older_folders_have_special_tokens_in_a_file_of_their_own() {
    let of = |settings: &Value, tokens: &str| {
        let folder = folder(settings);
        fs::write(folder.path().join("special_tokens_map.json"), tokens).unwrap();
        ChatTemplate::from_folder(folder.path()).map(|template| template.render(&[], false).unwrap())
    };
    let source = "{{ bos_token }}{{ eos_token }}{{ pad_token }}";
    let mut settings = json!({"bos_token": "<b>", "pad_token": "<p>", "chat_template": source});
    let tokens = r#"{"bos_token": "<s>", "eos_token": {"content": "</s>"}}"#;
    assert_eq!(of(&settings, tokens).unwrap(), "<s></s><p>");
    let error = of(&settings, "[]").unwrap_err().to_string();
    assert!(error.contains("special_tokens_map.json: invalid type: sequence"), "{error}");
    settings["added_tokens_decoder"] = json!({});
    assert_eq!(of(&settings, tokens).unwrap(), "<b><p>");
}

#[test]
fn a_template_sees_further_values() {
    let source = "{{ bos_token }}{% if enable_thinking is defined and enable_thinking is false %}<done>{% endif %}\
                  {{ tools | tojson }}{{ messages | length }}";
    assert_eq!(render(source).unwrap(), "<s>null1");
    let template = template(source).unwrap().with_value("enable_thinking", false).with_value("messages", ());
    let template = template.with_value("bos_token", "<b>").with_value("tools", json!([{"name": "sum"}]));
    assert_eq!(template.render(&[], true).unwrap(), "<b><done>[{\"name\": \"sum\"}]0");
}

#[test]
fn texts_have_the_methods_of_python() {
    for (expression, expected) in [
        ("'<a><a>'.removeprefix('<a>') ~ '|' ~ 'b'.removeprefix('<a>')", "<a>|b"),
        ("'<a><a>'.removesuffix('<a>') ~ '|' ~ 'b'.removesuffix('<a>')", "<a>|b"),
        ("'a-b-c'.partition('-') | join('|') ~ '|' ~ 'é'.partition('-') | join('|')", "a|-|b-c|é||"),
        ("'a-b-c'.rpartition('-') | join('|') ~ '|' ~ 'é'.rpartition('-') | join('|')", "a-b|-|c|||é"),
        (
            "'a</t>b</t>é'.rsplit('</t>', 1) | join('|') ~ '|' ~ ' a  b c '.rsplit(none, 1) | join('|')",
            "a</t>b|é| a  b|c",
        ),
        ("'a.b.c'.rsplit('.')[-1] ~ ' a b '.rsplit() | join('|')", "ca|b"),
    ] {
        assert_eq!(render(&format!("{{{{ {expression} }}}}")).unwrap(), expected, "{expression}");
    }
    let error = render("{{ 'a'.removeprefix() }}").unwrap_err().to_string();
    assert!(error.contains("string has no method named removeprefix"), "{error}");
}

#[test]
fn texts_and_maps_are_sequences() {
    let source =
        "{% for x in ['a', {}, [1], 3, none, true] %}{{ x is sequence }} {% endfor %}{{ nothing is sequence }}";
    assert_eq!(render(source).unwrap(), "True True True False False False True");
}

#[test]
fn each_kind_of_line_break_is_that_of_jinja() {
    let text = render("a\r\n{% if true %}\r\n{{ 'x\r\ny' }}\r\n{% endif %}\r\nz\rw\r\n");
    assert_eq!(text.unwrap(), "a\nx\ny\nz\nw");
    assert_eq!(render(r"{{ '\r\n' }}").unwrap(), "\r\n");
}

#[test]
fn a_template_that_is_none_and_one_that_fails_are_errors() {
    let error = template("{% for %}").unwrap_err().to_string();
    assert!(error.contains("tokenizer_config.json: the chat template: syntax error"), "{error}");
    for (source, part) in [
        ("{{ nothing.at_all.there }}", "the chat template failed: "),
        ("{{ messages | no_such_filter }}", "no_such_filter"),
        ("{{ messages | tojson(indent=17) }}", "an `indent` of at most 16"),
        ("{{ strftime_now('%!') }}", "the chat template failed: "),
    ] {
        let error = template(source).and_then(|template| template.render(&[], false)).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let error = render("{{ raise_exception('only\\u001b one') }}").unwrap_err().to_string();
    assert_eq!(error, r"the chat template refuses the messages: only\u{1b} one");
}

#[test]
fn hostile_templates_end_at_a_limit() {
    let loops = "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}";
    let doubled = "{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}";
    let output = "{% for a in range(100000) %}{{ 'a' * 10000 }}{% endfor %}";
    let replaced = "{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x.replace('a', 'aa') %}{% endfor %}{{ n.x }}";
    let sources = [loops, doubled, output, replaced, "{{ 'a' * 99999999 }}", "{{ '%99999999d' | format(1) }}"];
    for source in sources {
        let error = render(source).unwrap_err();
        assert!(matches!(error, ChatTemplateError::TooLong { .. }), "{source}: {error}");
        assert_eq!(
            error.to_string(),
            "the chat template takes more than 1000000 steps, where 64 bytes of text are one step"
        );
    }
    let macros = "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}";
    let loops = "{% for a in messages recursive %}{{ loop(messages) }}{% endfor %}";
    for source in [macros, loops] {
        let error = render(source).unwrap_err();
        assert_eq!(error.to_string(), "the chat template is more than 200 levels deep", "{source}");
    }
    let nested = format!("{{{{ {}1{} }}}}", "(".repeat(100_000), ")".repeat(100_000));
    let error = render(&nested).unwrap_err().to_string();
    assert!(error.contains("template exceeds maximum recursion limits"), "{error}");
}

/// Damaged templates are read, refused or rendered. None of them panics.
#[test]
fn mutated_templates_end() {
    let reference: Value = serde_json::from_str(include_str!("../fixtures/chat/chats.json")).unwrap();
    for source in reference["templates"].as_object().unwrap().values() {
        let source = source.as_str().unwrap();
        for (place, character) in source.char_indices().step_by(7) {
            let without = [&source[..place], &source[place + character.len_utf8()..]].concat();
            for mutated in [&source[..place], &without] {
                let _text_or_error = render(mutated);
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_template_knows_the_day() {
    let today = || {
        String::from_utf8(
            std::process::Command::new("date").env("LC_ALL", "C").arg("+%d %b %Y").output().unwrap().stdout,
        )
        .unwrap()
    };
    let before = today();
    let found = render("{{ strftime_now('%d %b %Y') }}").unwrap();
    assert!([before, today()].iter().any(|day| day.trim_end() == found), "{found}");
}

#[test]
fn a_chat_gets_no_special_tokens_beside_its_own() {
    dims! { WordVocab = 200; }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tokenizers/wordpiece.json");
    let tokenizer = Tokenizer::<WordVocab>::from_file(path).unwrap();
    let special: Vec<_> = ["[CLS]", "[SEP]"].map(|text| tokenizer.token(text).unwrap()).into();
    let verbatim = tokenizer.encode_verbatim("[CLS]speak").unwrap();
    assert_eq!((verbatim[0], verbatim.contains(&special[1])), (special[0], false));
    let added = tokenizer.encode("speak").unwrap();
    assert_eq!(added, [&verbatim[..], &special[1..]].concat());
}
