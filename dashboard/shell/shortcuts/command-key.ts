export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** The label of the command modifier on this platform. */
export const commandKey = isMac ? '⌘' : 'Ctrl';
