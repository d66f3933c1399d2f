import { Button, Group, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { NameFields } from '../fields/name-fields.tsx';
import { SlugField } from '../fields/slug-field.tsx';
import { FormError } from '../states/form-error.tsx';
import { Dialog } from './dialog.tsx';

interface NameAndDescription {
  readonly name: string;
  readonly description: string | null;
  /** Left out for what has none. */
  readonly slug?: string;
}

export function RenameDialog(props: {
  readonly named: NameAndDescription;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onSave: (about: NameAndDescription) => void;
  readonly onClose: () => void;
}) {
  const { named, pending, error, onSave, onClose } = props;
  const { name, slug } = named;
  const [about, setAbout] = useState({ name, slug, description: named.description ?? '' });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave({
      name: about.name,
      description: about.description || null,
      ...(about.slug !== undefined && { slug: about.slug }),
    });
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
          {about.slug !== undefined && (
            <SlugField
              value={about.slug}
              onChange={(slug) => setAbout({ ...about, slug })}
              error={error}
            />
          )}
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
