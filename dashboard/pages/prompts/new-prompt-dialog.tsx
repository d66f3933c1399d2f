import { useNavigate } from '@tanstack/react-router';
import { NameFields } from '../../components/fields/name-fields.tsx';
import { type Visibility, VisibilityField } from '../../components/fields/visibility-field.tsx';
import { createPrompt } from '../../data/prompts/prompt-actions.ts';
import { FormDialog } from '../../kit/form-dialog.tsx';

/** Creates a prompt without content; its first version is written in the editor. */
export function NewPromptDialog() {
  const navigate = useNavigate();
  return (
    <FormDialog
      title="New prompt"
      submit="Create and edit"
      action={createPrompt}
      start={{ name: '', description: '', visibility: 'private' as Visibility }}
      input={(prompt) => ({ ...prompt, description: prompt.description || null })}
      onDone={({ promptId }) => void navigate({ to: '/prompts/$promptId', params: { promptId } })}
      fields={({ values, change, error }) => [
        <NameFields
          key="name"
          {...{ error, name: values.name, description: values.description }}
          onChange={change}
          autoFocus
        />,
        <VisibilityField
          key="visibility"
          value={values.visibility}
          onChange={(visibility) => change({ visibility })}
        />,
      ]}
    />
  );
}
