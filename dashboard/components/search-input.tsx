import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { Icon } from './icon.tsx';

/** A debounced search field. The `/` shortcut focuses it. */
export function SearchInput(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const { value } = props;
  const [typed, setTyped] = useState(value);
  // Values passed to `onChange` that have not come back as `value` yet.
  const emitted = useRef<string[]>([]);
  const emit = useDebouncedCallback((text: string) => {
    emitted.current.push(text);
    props.onChange(text);
  }, 200);
  useEffect(() => {
    const index = emitted.current.indexOf(value);
    emitted.current.splice(0, index + 1);
    if (index !== -1) return;
    // The value changed from outside, for example by the back button: drop pending input.
    emitted.current = [];
    emit.cancel();
    setTyped(value);
  }, [value, emit]);
  return (
    <TextInput
      type="search"
      data-search
      aria-label={props.label}
      placeholder={props.label}
      leftSection={<Icon name="search" size={14} />}
      value={typed}
      maxLength={200}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        emit(currentTarget.value);
      }}
      // Apply pending input before another control, such as Clear filters, acts on it.
      onBlur={() => emit.flush()}
    />
  );
}
