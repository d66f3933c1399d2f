export const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** What the key beside the space bar is called on this machine. */
export const commandKey = mac ? '⌘' : 'Ctrl';
