import { Stack, TagsInput, TextInput } from '@mantine/core';
import { fieldError } from '../states/form-error.tsx';
import type { AgentFields } from './agent-fields.ts';
import classes from './fields.module.css';
import { NameFields } from './name-fields.tsx';
import { SlugField } from './slug-field.tsx';
import { VisibilityField } from './visibility-field.tsx';

/** Name, description, slug, aliases, project, tags and visibility of an agent. */
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
      <TagsInput
        label="Aliases"
        description="Other names that calls may use, such as the pmpt_… of a prompt that was with OpenAI."
        placeholder={form.aliases.length === 0 ? 'Press Enter to add' : ''}
        maxTags={20}
        splitChars={[',', ' ', '\n']}
        isDuplicate={(alias, others) => others.includes(alias)}
        spellCheck={false}
        disabled={disabled}
        value={[...form.aliases]}
        error={fieldError(error, 'aliases')}
        onChange={(aliases) => onChange({ aliases })}
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
