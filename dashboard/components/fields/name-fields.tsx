import { Textarea, TextInput } from '@mantine/core';
import { fieldError } from '../states/form-error.tsx';

/** Name and description. */
export function NameFields(props: {
  readonly name: string;
  readonly description: string;
  readonly onChange: (change: { readonly name?: string; readonly description?: string }) => void;
  readonly error: unknown;
  /** The API's field for the name. */
  readonly nameField?: string;
  readonly autoFocus?: boolean;
  readonly disabled?: boolean;
}) {
  const { name, description, onChange, error, nameField = 'name', disabled = false } = props;
  return (
    <>
      <TextInput
        label="Name"
        data-autofocus={props.autoFocus || undefined}
        required
        withAsterisk={false}
        maxLength={200}
        disabled={disabled}
        value={name}
        error={fieldError(error, nameField)}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
      />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={2000}
        disabled={disabled}
        value={description}
        error={fieldError(error, 'description')}
        onChange={({ currentTarget }) => onChange({ description: currentTarget.value })}
      />
    </>
  );
}
