/** The header in which a child shows its handle; the request then has no right that the grant lacks. */
export const CHILD_HANDLE_HEADER = 'X-Child-Handle'

/** The `kind` of the origin of a task that was made for a child run; `ref` is the handle. */
export const CHILD_RUN_ORIGIN = 'child_run'

/** The output of a child run is the result its parent gets, as JSON. */
export const MAX_CHILD_RESULT_BYTES = 32_768
