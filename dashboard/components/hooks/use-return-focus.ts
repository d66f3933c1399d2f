import { useEffect, useState } from 'react';

/**
 * Gives the focus back to what had it, once whatever calls this is gone. Mantine does so only for what stays mounted and
 * is opened and closed by a property. Where what had it is gone too, a deleted row for example, the page gets it.
 */
export function useReturnFocus(): void {
  const [opener] = useState(openerNow);
  useEffect(
    () => () => {
      // Someone has gone on already, to another page or into another dialog.
      if (document.activeElement && document.activeElement !== document.body) return;
      const place = opener?.isConnected ? opener : document.getElementById('page');
      place?.focus({ preventScroll: true });
    },
    [opener],
  );
}

/** Of an item of a menu, which closes with the click, the button that opened the menu. */
function openerNow(): HTMLElement | null {
  const active = document.activeElement;
  if (!(active instanceof HTMLElement) || active === document.body) return null;
  const button = active.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return button ? document.getElementById(button) : active;
}
