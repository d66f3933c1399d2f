import { Button, Group, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { NameFields } from '../fields/name-fields.tsx';
import { FormError } from '../form-error.tsx';
import { Dialog } from './dialog.tsx';

interface NameAndDescription {
  readonly name: string;
  readonly description: string | null;
}

export function RenameDialog(props: {
  readonly named: NameAndDescription;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onSave: (about: NameAndDescription) => void;
  readonly onClose: () => void;
}) {
  const { named, pending, error, onSave, onClose } = props;
  const [about, setAbout] = useState({ name: named.name, description: named.description ?? '' });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave({ ...about, description: about.description || null });
  };
  return (
    <Dialog locked={pending} onClose={onClose} title="Edit details">
      <form onSubmit={submit}>
        <Stack gap="md">
          <NameFields
            name={about.name}
            description={about.description}
            onChange={(change) => setAbout({ ...about, ...change })}
            error={error}
            autoFocus
          />
          <FormError error={error} />
          <Group justify="flex-end">
            <Button type="submit" loading={pending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
