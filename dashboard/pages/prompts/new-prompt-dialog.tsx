import { Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { NameFields } from '../../components/fields/name-fields.tsx';
import { type Visibility, VisibilityField } from '../../components/fields/visibility-field.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { useCreatePrompt } from '../../data/prompts/prompts.ts';
import { Dialog, DialogActions } from '../../kit/dialog.tsx';

/** Creates a prompt without content; its first version is written in the editor. */
export function NewPromptDialog({ onClose }: { readonly onClose: () => void }) {
  const [about, setAbout] = useState({ name: '', description: '' });
  const [visibility, setVisibility] = useState<Visibility>('private');
  const create = useCreatePrompt();
  const navigate = useNavigate();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const onSuccess = ({ promptId }: { promptId: string }) =>
      void navigate({ to: '/prompts/$promptId', params: { promptId } });
    create.mutate({ ...about, description: about.description || null, visibility }, { onSuccess });
  };
  return (
    <Dialog title="New prompt" locked={create.isPending} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <NameFields
            name={about.name}
            description={about.description}
            onChange={(change) => setAbout({ ...about, ...change })}
            error={create.error}
            autoFocus
          />
          <VisibilityField value={visibility} onChange={setVisibility} />
          <FormError error={create.error} />
          <DialogActions submit="Create and edit" pending={create.isPending} />
        </Stack>
      </form>
    </Dialog>
  );
}
