import type { KeyboardEvent } from 'react';

/** Of a form whose fields take lines: ⌘ or Ctrl with Enter does what its button does, where that can be pressed. */
export function submitByKeys(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
  event.preventDefault();
  event.currentTarget.querySelector<HTMLButtonElement>('button[type=submit]')?.click();
}
