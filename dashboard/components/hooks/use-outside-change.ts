import { useEffect, useRef } from 'react';

/**
 * For a field that keeps what is typed and emits it. Calls `onChange` at first and when `value` changes from outside, for
 * example by the back button, but not when an emitted value comes back. Returns what to call before a value is emitted.
 */
export function useOutsideChange(
  value: string,
  onChange: (value: string) => void,
): (emitted: string) => void {
  const latest = useRef(onChange);
  latest.current = onChange;
  // Emitted values that have not come back as `value` yet.
  const emitted = useRef<string[]>([]);
  useEffect(() => {
    const index = emitted.current.indexOf(value);
    emitted.current.splice(0, index + 1);
    if (index !== -1) return;
    emitted.current = [];
    latest.current(value);
  }, [value]);
  return (text) => void emitted.current.push(text);
}
