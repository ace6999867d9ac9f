//! `commsan config`: the options in effect.

use crate::exit_code;
use crate::failure::Failure;
use crate::options::{Scope, TABLE};
use crate::output::out;
use crate::settings::Settings;
use std::process::ExitCode;

/// Prints the options in the format of `commsan.toml`; with `explain`, as a table with the origin
/// and the meaning of each.
pub fn main(settings: &Settings, explain: bool) -> Result<ExitCode, Failure> {
    if explain {
        print_table(settings);
    } else {
        out(&toml_text(settings));
    }
    Ok(ExitCode::from(exit_code::OK))
}

fn toml_text(settings: &Settings) -> String {
    let mut options = toml::Table::new();
    for spec in TABLE {
        let mut values = settings.options.texts(spec.name).into_iter().map(|text| {
            if let Ok(number) = text.parse() {
                toml::Value::Integer(number)
            } else if let Ok(truth) = text.parse() {
                toml::Value::Boolean(truth)
            } else {
                toml::Value::String(text)
            }
        });
        if spec.repeats {
            options.insert(spec.name.to_owned(), toml::Value::Array(values.collect()));
        } else if let Some(value) = values.next() {
            options.insert(spec.name.to_owned(), value);
        }
    }
    format!("[options]\n{}\n", options.to_string().trim_end())
}

fn print_table(settings: &Settings) {
    let rows: Vec<[String; 3]> = TABLE
        .iter()
        .map(|spec| {
            let origins = settings.origins(spec.name).iter().map(ToString::to_string);
            let texts = settings.options.texts(spec.name);
            let value = if texts.is_empty() { "(none)".to_owned() } else { texts.join(", ") };
            [spec.name.to_owned(), value, origins.collect::<Vec<_>>().join(", ")]
        })
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths = [width(0), width(1)];
    for (spec, [name, value, origin]) in TABLE.iter().zip(&rows) {
        let reader = if spec.scope == Scope::Rank { "; read by ranks" } else { "" };
        out(&format!(
            "\x1b[1m{name:0$}\x1b[0m  {value:1$}  ({origin})\n    {2}; takes {3}{reader}\n",
            widths[0], widths[1], spec.help, spec.value
        ));
    }
}
