//! Memory besides buffers that a call is given: statuses, requests, flags, indices.

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
}

impl Pointee {
    /// Those of a call, but for single requests, which are passed often. Of arrays that only as many elements are needed of as complete, one is
    /// certain.
    pub(crate) fn of(params: &[Param]) -> Vec<Pointee> {
        let named = |name: &str| params.iter().position(|param| param.name == name);
        let all = named("requests").and_then(|_| named("count"));
        let given = named("requests").and_then(|_| named("count").or_else(|| named("incount")));
        let pointee = |(param, of): (usize, &Param)| {
            let (element, count) = match &*of.name {
                "status" | "status_in" => (Element::Status, None),
                "statuses" => (Element::Status, all),
                "requests" => (Element::Request, given),
                "flag" | "index" | "outcount" | "indices" | "provided" => (Element::Int, None),
                _ => return None,
            };
            // Some results of some calls.
            let is_certain = of.name != "statuses" || all.is_some();
            is_certain.then_some(Pointee { param, element, count })
        };
        params.iter().enumerate().filter_map(pointee).collect()
    }
}
