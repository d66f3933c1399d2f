import { TextInput } from '@mantine/core';
import { fieldError } from '../../components/states/form-error.tsx';

export function KeyNameField(props: {
  readonly name: string;
  readonly error: unknown;
  readonly onChange: (name: string) => void;
}) {
  const { name, error, onChange } = props;
  return (
    <TextInput
      label="Name"
      description="Which program uses the key"
      required
      withAsterisk={false}
      data-autofocus
      maxLength={200}
      value={name}
      error={fieldError(error, 'name')}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
