/** A valid name of a step or an input. */
export const workflowName = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
