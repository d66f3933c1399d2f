import { useLayoutEffect } from 'react';

/**
 * Keeps what the user types after a shortcut, and enters it into the text field that its dialog focuses: until then, the
 * code of the dialog loads. Each new `request` does so; zero keeps nothing.
 */
export function useTypedAhead(request: number): void {
  useLayoutEffect(() => (request > 0 ? keepKeys() : undefined), [request]);
}

/** Ends with the focus of a dialog, a click, Esc or Tab, or by the returned function. */
function keepKeys(): () => void {
  let typed = '';
  let isEntered = false;
  const keeping = new AbortController();
  const end = () => keeping.abort();
  const onKey = (event: KeyboardEvent) => {
    const { key } = event;
    if (key === 'Escape' || key === 'Tab') return end();
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (key === 'Enter') isEntered = true;
    else if (key === 'Backspace') typed = typed.slice(0, -1);
    else if (key.length === 1) typed += key;
    else return;
    // Otherwise it would be a shortcut of the page, or go to what had the focus.
    event.preventDefault();
    event.stopPropagation();
  };
  const onFocus = ({ target }: FocusEvent) => {
    if (!(target instanceof Element) || !target.closest('[role="dialog"]')) return;
    end();
    // As by the keyboard, for any kind of text field; does nothing if the focus is elsewhere.
    if (typed !== '') document.execCommand('insertText', false, typed);
    const enter = { key: 'Enter', code: 'Enter', bubbles: true };
    if (isEntered) target.dispatchEvent(new KeyboardEvent('keydown', enter));
  };
  const options = { capture: true, signal: keeping.signal };
  window.addEventListener('keydown', onKey, options);
  window.addEventListener('focusin', onFocus, options);
  window.addEventListener('pointerdown', end, options);
  return end;
}
