import type { SyntheticEvent } from 'react';

/** Moves the focus from a button that removes filters, and itself with them, to the first filter beside it. */
export function focusFilters({ currentTarget }: SyntheticEvent): void {
  const filters = currentTarget.closest('search');
  // Not the search field: it would open the keyboard of a phone.
  filters?.querySelector<HTMLElement>('select, button')?.focus();
}
