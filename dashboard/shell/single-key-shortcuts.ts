const key = 'cueline-single-keys';

/**
 * Whether keys without the command key do something: whoever dictates types them by speaking, so they can be switched off.
 */
export function singleKeysOn(): boolean {
  return localStorage.getItem(key) !== 'off';
}

export function setSingleKeys(on: boolean): void {
  if (on) localStorage.removeItem(key);
  else localStorage.setItem(key, 'off');
}
