import { TextInput } from '@mantine/core';
import { fieldError } from '../states/form-error.tsx';

/** The slug of an agent or workflow. */
export function SlugField(props: {
  readonly value: string;
  readonly onChange: (slug: string) => void;
  readonly error: unknown;
  readonly disabled?: boolean;
}) {
  const { value, onChange, error, disabled = false } = props;
  return (
    <TextInput
      label="Slug"
      description="Name for other programs, such as the model in an OpenAI client. If you change it, calls with the old one fail."
      placeholder="Derived from the name"
      maxLength={64}
      spellCheck={false}
      disabled={disabled}
      value={value}
      error={fieldError(error, 'slug')}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
