export { builtInSkills } from './built-in.ts';
export { changedFiles, fileTexts } from './changed-files.ts';
export { type KnownSkill, readableSkills, readSkillFiles } from './read-skill.ts';
export { findSkills } from './store.ts';
