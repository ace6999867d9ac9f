//! Functions of libraries for kernels, where the program has none of their PTX.
//!
//! `libnvshmem_device.a` has machine code. Of its functions only those are called which its headers
//! call whatever the memory is that kernels reach: one fence, behind each wait. The others take a
//! network, which PEs on simulated devices do not need.

use commsan_ptx::Module;

/// They are weak, so that a program may have its own.
const TEXT: &str = "\
.version 8.0
.target sm_50
.address_size 64
.weak .func _Z36nvshmemi_transfer_syncapi_update_memv() {
	membar.gl;
	ret;
}
";

/// The library, if some module calls what none defines and this has.
pub fn needed_by(modules: &[Module]) -> Option<Module> {
    let library = Module::parse(TEXT).ok()?;
    let is_missed = |name: &str| {
        let mut named = modules.iter().filter_map(|module| module.function(name)).peekable();
        named.peek().is_some() && named.all(|(_, function)| function.body.is_none())
    };
    library.functions.iter().any(|function| is_missed(&function.name)).then_some(library)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(text: &str) -> Module {
        Module::parse(&format!(".version 8.0\n.target sm_90\n.address_size 64\n{text}"))
            .expect("PTX")
    }

    #[test]
    fn what_is_missing_is_there_and_nothing_else() {
        const CALLS: &str = ".extern .func _Z36nvshmemi_transfer_syncapi_update_memv();
            .visible .entry k() { call _Z36nvshmemi_transfer_syncapi_update_memv, (); ret; }";
        const HAS: &str = ".visible .func _Z36nvshmemi_transfer_syncapi_update_memv() { ret; }";
        let calls = module(CALLS);
        let library = needed_by(std::slice::from_ref(&calls)).expect("it has that function");
        assert!(needed_by(&[module(CALLS), module(HAS)]).is_none());
        assert!(needed_by(&[module(".visible .entry k() { ret; }")]).is_none());
        let linked = Module::linked(vec![calls, library]).expect("a program");
        let found = linked.function("_Z36nvshmemi_transfer_syncapi_update_memv");
        assert!(found.is_some_and(|(_, function)| function.body.is_some()));
    }
}
