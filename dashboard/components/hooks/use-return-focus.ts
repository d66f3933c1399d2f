import { useEffect, useState } from 'react';

/**
 * Returns focus on unmount to `from`, or to the element that had it on mount. Mantine does this only for components that stay
 * mounted. If the element no longer exists, for example a deleted row, focus goes to the page.
 */
export function useReturnFocus(from: HTMLElement | null): void {
  const [opener] = useState(() => from ?? currentOpener());
  useEffect(
    () => () => {
      // The user has already moved on to another page or dialog.
      if (document.activeElement && document.activeElement !== document.body) return;
      const target = opener?.isConnected ? opener : document.getElementById('page');
      target?.focus({ preventScroll: true });
    },
    [opener],
  );
}

/** For a menu item, whose menu closes on click, the button that opened the menu. */
export function currentOpener(): HTMLElement | null {
  const active = document.activeElement;
  if (!(active instanceof HTMLElement) || active === document.body) return null;
  const button = active.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return button ? document.getElementById(button) : active;
}
