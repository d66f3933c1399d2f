import { PasswordInput } from '@mantine/core';

/** The password someone has, as programs that keep passwords know it. */
export function PasswordField(props: {
  readonly label?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** In a dialog: it is what one begins with. */
  readonly first?: boolean;
}) {
  return (
    <PasswordInput
      label={props.label ?? 'Password'}
      name="password"
      autoComplete="current-password"
      required
      withAsterisk={false}
      data-autofocus={props.first || undefined}
      value={props.value}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
    />
  );
}
