import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { Icon } from './icon.tsx';

/** Follows the typing at a little distance, so that not every letter is a call. `/` leads here. */
export function SearchInput(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const { value } = props;
  const [typed, setTyped] = useState(value);
  // What was told, and has not come back as the value yet.
  const told = useRef<string[]>([]);
  const tell = useDebouncedCallback((text: string) => {
    told.current.push(text);
    props.onChange(text);
  }, 200);
  useEffect(() => {
    const place = told.current.indexOf(value);
    told.current.splice(0, place + 1);
    if (place !== -1) return;
    // Others change it, too, the back button for example: then what is still to be told is over.
    told.current = [];
    tell.cancel();
    setTyped(value);
  }, [value, tell]);
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
      // Whoever goes on to a button, one that clears the filters for example, means what is typed to be known by then.
      onBlur={() => tell.flush()}
    />
  );
}
