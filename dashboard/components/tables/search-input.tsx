import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { useOutsideChange } from '../hooks/use-outside-change.ts';
import { Icon } from '../icon.tsx';

/** A debounced search field. The `/` shortcut focuses it. */
export function SearchInput(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const { value } = props;
  const [typed, setTyped] = useState(value);
  const emit = useDebouncedCallback((text: string) => {
    willEmit(text);
    props.onChange(text);
  }, 200);
  const willEmit = useOutsideChange(value, (text) => {
    // Drop pending input.
    emit.cancel();
    setTyped(text);
  });
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
