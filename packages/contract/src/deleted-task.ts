/** The agent and the person read this line instead of the result of a deleted task. */
export const deletedTaskLine = 'The task and its result were deleted.';
