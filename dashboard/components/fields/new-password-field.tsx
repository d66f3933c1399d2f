import { PasswordInput } from '@mantine/core';

/** A new password, with the server's length rule. */
export function NewPasswordField(props: {
  readonly label: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (value: string) => void;
}) {
  return (
    <PasswordInput
      label={props.label}
      description="10 to 128 characters"
      autoComplete="new-password"
      required
      withAsterisk={false}
      minLength={10}
      maxLength={128}
      value={props.value}
      error={props.error}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
    />
  );
}
