// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Jobs, their address tables and job keys. Functions that return a number give 0 or a positive
// errno value and set errno to it.
#include "error.hpp"
#include "export.hpp"
#include "private_context.hpp"

namespace verbs {
namespace {

const verbs_context_ops& job_ops(const ibv_job* job) {
  return ops_of(job->context);
}

}  // namespace
}  // namespace verbs

VERBS_EXPORT ibv_job* ibv_alloc_job(ibv_context* context, ibv_job_attr* attr, void* user_context) {
  ibv_job* job = verbs::ops_of(context).alloc_job(context, attr, user_context);
  if (job) {
    job->context = context;
    job->user_context = user_context;
  }
  return job;
}

VERBS_EXPORT int ibv_dealloc_job(ibv_job* job) {
  return verbs::with_errno(verbs::job_ops(job).dealloc_job(job));
}

VERBS_EXPORT int ibv_query_job(ibv_job* job, ibv_job_attr* attr) {
  return verbs::with_errno(verbs::job_ops(job).query_job(job, attr));
}

// A descriptor of the job, for another process to import.
VERBS_EXPORT int ibv_export_job(ibv_job* job, int* fd) {
  return verbs::with_errno(verbs::job_ops(job).export_job(job, fd));
}

VERBS_EXPORT int ibv_import_job(ibv_context* context, int fd, ibv_job** job) {
  int error = verbs::ops_of(context).import_job(context, fd, job);
  if (!error) (*job)->context = context;
  return verbs::with_errno(error);
}

VERBS_EXPORT int ibv_insert_addr(ibv_job* job, ibv_ah_attr_ex* attr, unsigned int index,
                                 unsigned int flags) {
  return verbs::with_errno(verbs::job_ops(job).insert_addr(job, attr, index, flags));
}

VERBS_EXPORT int ibv_remove_addr(ibv_job* job, unsigned int index, unsigned int flags) {
  return verbs::with_errno(verbs::job_ops(job).remove_addr(job, index, flags));
}

VERBS_EXPORT int ibv_query_addr(ibv_job* job, unsigned int index, ibv_ah_attr_ex* attr,
                                unsigned int flags) {
  return verbs::with_errno(verbs::job_ops(job).query_addr(job, index, attr, flags));
}

// Binds a job to a PD; the key is what work requests name.
VERBS_EXPORT ibv_job_key* ibv_create_jkey(ibv_pd* pd, ibv_job* job, unsigned int flags) {
  ibv_job_key* key = verbs::ops_of(pd->context).create_jkey(pd, job, flags);
  if (key) key->pd = pd;
  return key;
}

VERBS_EXPORT int ibv_destroy_jkey(ibv_job_key* key) {
  return verbs::with_errno(verbs::ops_of(key->pd->context).destroy_jkey(key));
}
