//! Macros for interceptors: functions of the same name in front of those of a runtime or library.

/// A name as a C string.
macro_rules! cstr {
    ($name:ident) => {
        match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => unreachable!(),
        }
    };
}

/// The next definition of a function, with its type, and its version if there are several; for the
/// caller of the interceptor, if no caller is named.
macro_rules! next {
    ($name:ident $([$version:literal])?, fn($($ty:ty),* $(,)?) $(-> $result:ty)?) => {
        next!($name $([$version])?, commsan_process::caller!().pc, fn($($ty),*) $(-> $result)?)
    };
    ($name:ident $([$version:literal])?, $caller:expr, fn($($ty:ty),* $(,)?) $(-> $result:ty)?) => {{
        use commsan_process::next::Next;
        static NEXT: Next = next!(@find $name $($version)?);
        // SAFETY: the function of this name, which is of this type.
        unsafe {
            std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($ty),*) $(-> $result)?>(
                NEXT.required_by($caller),
            )
        }
    }};
    (@find $name:ident) => { Next::new(cstr!($name)) };
    (@find $name:ident $version:literal) => { Next::versioned(cstr!($name), $version) };
}

/// Defines interceptors that act before and after the next definition, whose arguments are words.
macro_rules! around {
    ($(
        $name:ident $([$version:literal])? ($($arg:ident),*) $(-> $result:ty)?,
        $before:expr, $after:expr;
    )*) => { $(
        /// Interposes the function of this name.
        ///
        /// # Safety
        /// The contract of the interposed function.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $name($($arg: usize),*) $(-> $result)? {
            let next = next!($name $([$version])?, fn($(around!(@word $arg)),*) $(-> $result)?);
            if !crate::concerns() {
                // SAFETY: the program's arguments.
                return unsafe { next($($arg),*) };
            }
            let waits = $before;
            // SAFETY: the program's arguments.
            let result = unsafe { next($($arg),*) };
            crate::activity::over(waits);
            $after;
            result
        }
    )* };
    (@word $arg:ident) => { usize };
}
