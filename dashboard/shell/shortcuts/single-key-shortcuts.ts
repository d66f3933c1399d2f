const key = 'cueline-single-keys';

/** Single-key shortcuts can be turned off, because speech input types single letters. */
export function singleKeyShortcutsEnabled(): boolean {
  return localStorage.getItem(key) !== 'off';
}

export function setSingleKeyShortcuts(on: boolean): void {
  if (on) localStorage.removeItem(key);
  else localStorage.setItem(key, 'off');
}
