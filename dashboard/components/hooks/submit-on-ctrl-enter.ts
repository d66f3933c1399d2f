import type { KeyboardEvent } from 'react';

/** Submits a form with multi-line fields on ⌘ or Ctrl with Enter, if its submit button is enabled. */
export function submitOnCtrlEnter(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
  event.preventDefault();
  event.currentTarget.querySelector<HTMLButtonElement>('button[type=submit]')?.click();
}
