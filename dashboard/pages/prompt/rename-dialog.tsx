import { Button, Group, Modal, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Prompt } from '../../../src/client/index.ts';
import { useChangePrompt } from '../../data/prompts.ts';
import { FormProblem } from '../../parts/form-problem.tsx';
import { NameFields } from '../../parts/name-fields.tsx';

export function RenameDialog(props: { readonly prompt: Prompt; readonly onClose: () => void }) {
  const { prompt, onClose } = props;
  const [about, setAbout] = useState({
    name: prompt.name,
    description: prompt.description ?? '',
  });
  const change = useChangePrompt(prompt.promptId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate({ ...about, description: about.description || null }, { onSuccess: onClose });
  };
  return (
    <Modal opened onClose={onClose} title="Name and description">
      <form onSubmit={submit}>
        <Stack gap="md">
          <NameFields
            name={about.name}
            description={about.description}
            onChange={(change) => setAbout({ ...about, ...change })}
            error={change.error}
            autoFocus
          />
          <FormProblem error={change.error} />
          <Group justify="flex-end">
            <Button type="submit" loading={change.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
