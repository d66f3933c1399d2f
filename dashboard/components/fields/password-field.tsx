import { PasswordInput } from '@mantine/core';

/** The current password; marked up for password managers. */
export function PasswordField(props: {
  readonly label?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Focused when its dialog opens. */
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
