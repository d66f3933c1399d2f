import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { Icon } from './icon.tsx';

/** Follows the typing at a little distance, so that not every letter is a call. `/` leads here. */
export function SearchInput(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState(props.value);
  const tell = useDebouncedCallback(props.onChange, 200);
  // The back button changes it, too.
  useEffect(() => setTyped(props.value), [props.value]);
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
        tell(currentTarget.value);
      }}
    />
  );
}
