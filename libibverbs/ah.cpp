// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Address handles.
#include <cstddef>

#include "export.hpp"
#include "private_context.hpp"

VERBS_EXPORT ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  ibv_ah* ah = verbs::ops_of(pd->context).create_ah(pd, attr);
  if (ah) {
    ah->context = pd->context;
    ah->pd = pd;
  }
  return ah;
}

// An address handle that also knows the QP behind the address.
VERBS_EXPORT ibv_ah* ibv_create_ah_ex(ibv_pd* pd, ibv_ah_attr_ex* attr) {
  ibv_ah* ah = verbs::ops_of(pd->context).create_ah_ex(pd, attr);
  if (ah) {
    ah->context = pd->context;
    ah->pd = pd;
  }
  return ah;
}

// The extended form of a handle that ibv_create_ah_ex() made.
VERBS_EXPORT ibv_ah_ex* ibv_ah_to_ah_ex(ibv_ah* ah) {
  return reinterpret_cast<ibv_ah_ex*>(reinterpret_cast<char*>(ah) - offsetof(ibv_ah_ex, ah_base));
}

VERBS_EXPORT int ibv_destroy_ah(ibv_ah* ah) {
  return verbs::ops_of(ah->context).destroy_ah(ah);
}
