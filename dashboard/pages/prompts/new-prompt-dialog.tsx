import { Button, Group, Modal, Stack, Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useCreatePrompt } from '../../data/prompts.ts';
import { FormProblem, fieldProblem } from '../../parts/form-problem.tsx';

/** Only what a prompt is called: what it says comes with its first version, in the editor. */
export function NewPromptDialog(props: { readonly opened: boolean; readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const create = useCreatePrompt();
  const navigate = useNavigate();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const onSuccess = ({ promptId }: { promptId: string }) =>
      void navigate({ to: '/prompts/$promptId', params: { promptId } });
    create.mutate({ name, description: description || null }, { onSuccess });
  };
  return (
    <Modal opened={props.opened} onClose={props.onClose} title="New prompt">
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput
            label="Name"
            data-autofocus
            required
            withAsterisk={false}
            maxLength={200}
            value={name}
            error={fieldProblem(create.error, 'name')}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Textarea
            label="Description"
            autosize
            minRows={2}
            maxRows={6}
            maxLength={2000}
            value={description}
            error={fieldProblem(create.error, 'description')}
            onChange={({ currentTarget }) => setDescription(currentTarget.value)}
          />
          <FormProblem error={create.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={props.onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create and write it
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
