import { Button, Group, Modal, Stack, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Prompt } from '../../../src/client/index.ts';
import { useChangePrompt } from '../../data/prompts.ts';
import { FormProblem, fieldProblem } from '../../parts/form-problem.tsx';

export function RenameDialog(props: { readonly prompt: Prompt; readonly onClose: () => void }) {
  const { prompt, onClose } = props;
  const [name, setName] = useState(prompt.name);
  const [description, setDescription] = useState(prompt.description ?? '');
  const change = useChangePrompt(prompt.promptId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate({ name, description: description || null }, { onSuccess: onClose });
  };
  return (
    <Modal opened onClose={onClose} title="Name and description">
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput
            label="Name"
            data-autofocus
            required
            withAsterisk={false}
            maxLength={200}
            value={name}
            error={fieldProblem(change.error, 'name')}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Textarea
            label="Description"
            autosize
            minRows={2}
            maxRows={8}
            maxLength={2000}
            value={description}
            error={fieldProblem(change.error, 'description')}
            onChange={({ currentTarget }) => setDescription(currentTarget.value)}
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
