import { Stack, TagsInput, TextInput } from '@mantine/core';
import { fieldError } from '../states/form-error.tsx';
import type { AgentFields } from './agent-fields.ts';
import classes from './fields.module.css';
import { NameFields } from './name-fields.tsx';
import { SlugField } from './slug-field.tsx';
import { VisibilityField } from './visibility-field.tsx';

/** Name, description, slug, project, tags and visibility of an agent. */
export function GeneralFields(props: AgentFields) {
  const { form, onChange, error, disabled = false } = props;
  return (
    <Stack gap="md">
      <NameFields
        name={form.agentName}
        description={form.description}
        onChange={({ name = form.agentName, description = form.description }) =>
          onChange({ agentName: name, description })
        }
        error={error}
        nameField="agentName"
        disabled={disabled}
      />
      <SlugField
        value={form.slug}
        onChange={(slug) => onChange({ slug })}
        error={error}
        disabled={disabled}
      />
      <div className={classes.halves}>
        <TextInput
          label="Project"
          maxLength={100}
          disabled={disabled}
          value={form.project}
          error={fieldError(error, 'project')}
          onChange={({ currentTarget }) => onChange({ project: currentTarget.value })}
        />
        <TagsInput
          label="Tags"
          placeholder={form.tags.length === 0 ? 'Press Enter to add' : ''}
          maxTags={20}
          disabled={disabled}
          value={[...form.tags]}
          error={fieldError(error, 'tags')}
          onChange={(tags) => onChange({ tags })}
        />
      </div>
      <VisibilityField
        value={form.visibility}
        disabled={disabled}
        onChange={(visibility) => onChange({ visibility })}
      />
    </Stack>
  );
}
