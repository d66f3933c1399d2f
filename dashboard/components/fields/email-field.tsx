import { TextInput } from '@mantine/core';

/** The address of an account. A form that starts with it focuses it. */
export function EmailField(props: {
  readonly value: string;
  readonly onChange: (email: string) => void;
}) {
  return (
    <TextInput
      label="Email"
      type="email"
      name="email"
      autoComplete="username"
      required
      withAsterisk={false}
      autoFocus
      value={props.value}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
    />
  );
}
