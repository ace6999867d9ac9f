//! Routes: from the path and query of an address to the answer.

use crate::Runs;
use commsan_profile::api::{
    By, Error, EventsQuery, Filter, Level, MatrixQuery, TimelineQuery, WaitsQuery,
};
use serde::Serialize;
use std::str::FromStr;

/// The answer as JSON to what is asked at `path`, after `/api/`, with `query`.
///
/// # Errors
/// When there is no such question, or no answer to it.
pub fn answer(runs: &Runs, path: &str, query: &str) -> Result<Vec<u8>, Error> {
    let profile = &runs.profile;
    let mut given = Parameters::of(query);
    let (what, id) = path.split_once('/').map_or((path, None), |(what, id)| (what, Some(id)));
    match (what, id) {
        ("run", None) => given.end().and_then(|()| json(&profile.run())),
        ("matrix", None) => {
            let query = matrix(&mut given)?;
            given.end().and_then(|()| json(&profile.matrix(&query)?))
        }
        ("waits", None) => {
            let query = WaitsQuery {
                level: level(&mut given)?,
                rows: given.range("rows")?,
                cols: given.range("cols")?,
                max: given.take("max")?,
            };
            given.end().and_then(|()| json(&profile.wait_matrix(&query)?))
        }
        ("waits", Some("lines")) => {
            let (rows, cols) = (given.range("rows")?, given.range("cols")?);
            given.end().and_then(|()| json(&profile.wait_lines(rows, cols)?))
        }
        ("selection", None) => {
            let region = given.take("region")?;
            let (t0, t1) = (given.take("t0")?, given.take("t1")?);
            let filter = Filter { region, t0, t1, ..Filter::default() };
            given.end().and_then(|()| json(&profile.selection(&filter)?))
        }
        ("timeline", None) => {
            let query = timeline(&mut given)?;
            given.end().and_then(|()| json(&profile.timeline(&query)?))
        }
        ("lanes", None) => given.end().and_then(|()| json(&profile.lanes())),
        ("events", None) => {
            let query = EventsQuery {
                width: given.take("width")?,
                rows: given.take("rows")?,
                ..events(&mut given)?
            };
            given.end().and_then(|()| json(&profile.events(&query)?))
        }
        ("names", None) => given.end().and_then(|()| json(&profile.names())),
        ("critical", None) => given.end().and_then(|()| json(&profile.critical())),
        ("happened", None) => {
            let query = events(&mut given)?;
            given.end().and_then(|()| json(&profile.happened(&query)?))
        }
        ("line", None) => {
            let (file, line) = (given.needed("file")?, given.needed("line")?);
            given.end().and_then(|()| json(&profile.line(file, line)?))
        }
        ("compare", None) => given.end().and_then(|()| compare(runs)),
        ("object", Some(id)) => {
            let most = given.take("max")?;
            given.end().and_then(|()| json(&profile.object(parse("object", id)?, most)?))
        }
        ("file", Some(id)) => given.end().and_then(|()| json(&profile.file(parse("file", id)?)?)),
        ("place", Some(id)) => {
            given.end().and_then(|()| json(&profile.place(parse("place", id)?)?))
        }
        _ => Err(Error::NotFound(format!(
            "there is no question `{path}`: there are run, selection, matrix, object/N, file/N, line, place/N, \
             timeline, waits, waits/lines, lanes, events, happened, critical, names, compare"
        ))),
    }
}

fn json(answer: &impl Serialize) -> Result<Vec<u8>, Error> {
    // Answers hold nothing that JSON cannot, and a vector takes all that is written.
    serde_json::to_vec(answer).map_err(|error| Error::Bad(error.to_string()))
}

/// `null` if there is nothing to compare with.
fn compare(runs: &Runs) -> Result<Vec<u8>, Error> {
    let Some(other) = &runs.other else { return json(&()) };
    if let Some(known) = runs.comparison.get() {
        return Ok(known.clone());
    }
    let answer = json(&runs.profile.compare(other)?)?;
    Ok(runs.comparison.get_or_init(|| answer).clone())
}

fn level(given: &mut Parameters) -> Result<Level, Error> {
    match given.text("level").as_deref() {
        None | Some("place") => Ok(Level::Place),
        Some("node") => Ok(Level::Node),
        Some(other) => Err(unknown("level", other, "`place` or `node`")),
    }
}

fn matrix(given: &mut Parameters) -> Result<MatrixQuery, Error> {
    Ok(MatrixQuery {
        level: level(given)?,
        rows: given.range("rows")?,
        cols: given.range("cols")?,
        max: given.take("max")?,
        filter: filter(given)?,
    })
}

fn timeline(given: &mut Parameters) -> Result<TimelineQuery, Error> {
    let by = match given.text("by").as_deref() {
        None | Some("kind") => By::Kind,
        Some("place") => By::Place,
        Some("node") => By::Node,
        Some(other) => return Err(unknown("by", other, "`kind`, `place` or `node`")),
    };
    Ok(TimelineQuery { by, place: given.take("place")?, filter: filter(given)? })
}

fn events(given: &mut Parameters) -> Result<EventsQuery, Error> {
    let (from, to) = (given.take("from")?, given.take("to")?);
    Ok(EventsQuery { from, to, lanes: given.range("lanes")?, ..EventsQuery::default() })
}

fn filter(given: &mut Parameters) -> Result<Filter, Error> {
    Ok(Filter {
        object: given.take("object")?,
        file: given.take("file")?,
        line: given.take("line")?,
        region: given.take("region")?,
        t0: given.take("t0")?,
        t1: given.take("t1")?,
    })
}

fn unknown(name: &str, value: &str, valid: &str) -> Error {
    Error::Bad(format!("`{name}={value}` is not known: give {valid}"))
}

fn parse<T: FromStr>(name: &str, value: &str) -> Result<T, Error> {
    value.parse().map_err(|_| unknown(name, value, "a number that /api/run lists"))
}

/// What an address says after `?`; taken one by one, so that what is left was a mistake.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn of(query: &str) -> Parameters {
        Parameters(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(given, _)| given == name)?;
        Some(self.0.swap_remove(at).1)
    }

    fn take<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, Error> {
        self.text(name).map(|value| parse(name, &value)).transpose()
    }

    fn needed<T: FromStr>(&mut self, name: &str) -> Result<T, Error> {
        self.take(name)?.ok_or_else(|| Error::Bad(format!("`{name}=N` is missing")))
    }

    /// `3-7`, both included.
    fn range(&mut self, name: &str) -> Result<Option<(usize, usize)>, Error> {
        let Some(value) = self.text(name) else { return Ok(None) };
        let ends =
            value.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        ends.map(Some).ok_or_else(|| unknown(name, &value, "the first and last place: `0-7`"))
    }

    fn end(&self) -> Result<(), Error> {
        self.0.first().map_or(Ok(()), |(name, _)| {
            Err(Error::Bad(format!("the parameter `{name}` is not known here, or given twice")))
        })
    }
}
