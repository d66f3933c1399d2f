import { Textarea, TextInput } from '@mantine/core';
import { fieldError } from '../states/form-error.tsx';

interface About {
  readonly label: string;
  readonly notes: string;
}

/** Label and notes of a new version. */
export function VersionFields(props: {
  readonly about: About;
  readonly error: unknown;
  readonly onChange: (change: Partial<About>) => void;
}) {
  const { about, error, onChange } = props;
  return (
    <>
      <TextInput
        label="Label"
        placeholder="Default: v and the version number"
        maxLength={100}
        value={about.label}
        error={fieldError(error, 'label')}
        onChange={({ currentTarget }) => onChange({ label: currentTarget.value })}
      />
      <Textarea
        label="Notes"
        placeholder="What changed and why"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={2000}
        value={about.notes}
        error={fieldError(error, 'notes')}
        onChange={({ currentTarget }) => onChange({ notes: currentTarget.value })}
      />
    </>
  );
}
