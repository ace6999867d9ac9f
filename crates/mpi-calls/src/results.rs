//! Memory besides buffers that a call is given: statuses, requests, flags, indices, strings.

use crate::Param;

/// What one element of an argument's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// An `int`, or Fortran's default integer or logical.
    Int,
    /// An `MPI_Status`, or Fortran's `MPI_STATUS_SIZE` integers.
    Status,
    /// An `MPI_Request`.
    Request,
    /// All characters of a string that the call stores, in C with the one that ends it.
    Text(Longest),
    /// A character of a string whose length the program says.
    Character,
}

/// How long a string is that must have room for the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Longest {
    /// `MPI_MAX_PROCESSOR_NAME` (MPI 4.1 §9.1.2).
    ProcessorName,
    /// `MPI_MAX_LIBRARY_VERSION_STRING` (§9.1.1).
    LibraryVersion,
    /// `MPI_MAX_ERROR_STRING` (§9.4).
    ErrorString,
    /// `MPI_MAX_OBJECT_NAME` (§7.8).
    ObjectName,
    /// `MPI_MAX_PORT_NAME` (§11.9.2).
    PortName,
    /// `MPI_MAX_INFO_KEY` (§10).
    InfoKey,
    /// `MPI_MAX_DATAREP_STRING` (§14.3).
    DataRepresentation,
}

/// An argument that leads to memory of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointee {
    /// The parameter.
    pub param: usize,
    /// What is there.
    pub element: Element,
    /// The parameter with how many there are; one if `None`.
    pub count: Option<usize>,
    /// Whether all of them are used; else as many as operations complete, of which one is expected.
    pub is_whole: bool,
}

impl Pointee {
    /// Those of a call, but for single requests, which are passed often. Statuses of what is
    /// complete (`MPI_Waitsome`) are left out: how many there are is known afterwards.
    pub(crate) fn of(params: &[Param]) -> Vec<Pointee> {
        let named = |name: &str| params.iter().position(|param| param.name == name);
        let pointee = |(param, of): (usize, &Param)| {
            let (element, count) = match &*of.name {
                "status" | "status_in" => (Element::Status, None),
                "statuses" => (Element::Status, Some(named("count")?)),
                "requests" => (Element::Request, Some(named("count").or(named("incount"))?)),
                "indices" => (Element::Int, Some(named("incount")?)),
                "flag" | "index" | "outcount" | "provided" => (Element::Int, None),
                "name_out" => (Element::Text(Longest::ProcessorName), None),
                "version_text" => (Element::Text(Longest::LibraryVersion), None),
                "string_text" => (Element::Text(Longest::ErrorString), None),
                "comm_name" | "type_name" | "win_name" => {
                    (Element::Text(Longest::ObjectName), None)
                }
                "port_name" => (Element::Text(Longest::PortName), None),
                "key_out" => (Element::Text(Longest::InfoKey), None),
                "datarep_text" => (Element::Text(Longest::DataRepresentation), None),
                "value_out" => (Element::Character, Some(named("valuelen")?)),
                _ => return None,
            };
            Some(Pointee { param, element, count, is_whole: of.name != "indices" })
        };
        params.iter().enumerate().filter_map(pointee).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named;

    #[test]
    fn arrays_have_as_many_elements_as_there_are_requests() {
        let of = |name: &str| {
            let call = named(name).unwrap();
            let shown = |pointee: &Pointee| {
                let param = |index: usize| call.params[index].name.clone();
                (param(pointee.param), pointee.element, pointee.count.map(param))
            };
            let part = call.pointees.iter().filter(|pointee| !pointee.is_whole);
            assert!(part.into_iter().all(|pointee| call.params[pointee.param].name == "indices"));
            call.pointees.iter().map(shown).collect::<Vec<_>>()
        };
        let one = |name: &str, element| (name.to_owned(), element, None);
        let all =
            |name: &str, element, count: &str| (name.to_owned(), element, Some(count.to_owned()));
        assert_eq!(of("MPI_Recv"), [one("status", Element::Status)]);
        assert_eq!(of("MPI_Isend"), []);
        assert_eq!(
            of("MPI_Waitall"),
            [all("requests", Element::Request, "count"), all("statuses", Element::Status, "count")]
        );
        assert_eq!(
            of("MPI_Waitsome"),
            [
                all("requests", Element::Request, "incount"),
                one("outcount", Element::Int),
                all("indices", Element::Int, "incount"),
            ]
        );
    }
}
