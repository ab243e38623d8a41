export { builtInSkills, type KnownSkill, readableSkills, readSkillFiles } from './skill-files.ts';
export { changedFiles, fileTexts, findSkills } from './store.ts';
