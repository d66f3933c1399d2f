/** Model settings; null falls back to the version, then to the model's default. */
export interface ModelSettings {
  readonly model: string | null;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly topP: number | null;
}

export const noModelSettings: ModelSettings = {
  model: null,
  temperature: null,
  maxTokens: null,
  topP: null,
};
